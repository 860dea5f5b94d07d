// The views that are fetched when one of them is first shown.

import { Doctor } from "./views/doctor";
import { IncidentView } from "./views/incident";
import { MapView } from "./views/map";
import { MemoryView } from "./views/memory";
import { Perceptions } from "./views/perceptions";
import { Search } from "./views/search";
import { Compare, SessionView } from "./views/session";
import { Sessions } from "./views/sessions";
import { Subjects, SubjectView } from "./views/subjects";

/** The view that an address names, undefined if there is none. */
export function view(parts: string[]) {
  const [name = "", id = ""] = parts;
  if (parts.length === 2) {
    if (name === "memory" && /^\d+$/.test(id)) return <MemoryView key={id} id={Number(id)} />;
    if (name === "sessions" && id === "compare") return <Compare />;
    if (name === "sessions") return <SessionView key={id} id={id} />;
    if (name === "subjects") return <SubjectView key={id} name={id} />;
  }
  if (parts.length === 3 && name === "incident" && (id === "s" || (id === "m" && /^\d+$/.test(parts[2]!)))) return <IncidentView key={parts.join()} kind={id} id={parts[2]!} />;
  if (parts.length === 1) {
    if (name === "search") return <Search />;
    if (name === "perceptions") return <Perceptions />;
    if (name === "sessions") return <Sessions />;
    if (name === "map") return <MapView />;
    if (name === "subjects") return <Subjects />;
    if (name === "doctor") return <Doctor />;
  }
  return undefined;
}
