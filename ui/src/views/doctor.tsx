export function Doctor() { return <p>Doctor</p>; }
