import { Button } from "../parts/controls";
import { go } from "../app/router";
import type { Question } from "./search_query";
import { t } from "./search.text";

export function PickPlace(_: { q: Question; set: (q: Question) => void }) {
  return (
    <Button icon="map" onClick={() => go("/map")}>
      {t("pickPlace")}
    </Button>
  );
}
