import{k as e,s as a}from"./chunk-UZHU2E44.js";var r=e({});async function i(){let o=await a("/api/whoami");return o.status===401?!1:(o.ok&&(r.value=await o.json()),!0)}export{r as a,i as b};
