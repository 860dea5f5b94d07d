import "./style/base.css";
import "./style/shell.css";
import "./style/parts.css";
import "./style/views.css";
import "./style/print.css";
import { render } from "preact";
import { follow } from "./app/live";
import { showHidden } from "./app/visible";
import { Shell } from "./shell";

showHidden();
render(<Shell />, document.getElementById("app")!);
follow();
