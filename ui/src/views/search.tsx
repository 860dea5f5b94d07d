export function Search() { return <p>Search</p>; }
