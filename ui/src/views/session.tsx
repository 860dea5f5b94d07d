export function SessionView({ id }: { id: string }) { return <p>{id}</p>; }
export function Compare() { return <p>compare</p>; }
