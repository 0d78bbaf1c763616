/* The page of recruiting: what it shows comes with the page; the frame follows the campaign. */

import { begin } from "./frame.js";

begin(() => {});
