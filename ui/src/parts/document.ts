// Where in which document a passage is.

import type { Memory } from "../api/client";

/** "manual.pdf p. 12, Safety > Grippers"; nothing for a memory that is no passage of a document. */
export function documentLabel(m: Pick<Memory, "type" | "context">): string {
  const place = (m.context as { document?: { name?: string; page?: number; last_page?: number; section?: string } } | undefined)?.document;
  if (m.type !== "document" || !place?.name) return "";
  const pages = place.page ? ` p. ${place.page}${place.last_page && place.last_page > place.page ? `-${place.last_page}` : ""}` : "";
  return place.name + pages + (place.section ? `, ${place.section}` : "");
}
