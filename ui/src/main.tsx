import "./style/base.css";
import "./style/shell.css";
import "./style/parts.css";
import "./style/views.css";
import { render } from "preact";
import { follow } from "./app/live";
import { Shell } from "./shell";

render(<Shell />, document.getElementById("app")!);
follow();
