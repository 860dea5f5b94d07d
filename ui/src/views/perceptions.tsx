export function Perceptions() { return <p>Perceptions</p>; }
