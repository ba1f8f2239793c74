/** What a workflow does at a place that cannot be followed exactly. The message ends a sentence: `..., because it <message>`. */
export class NotUnderstood extends Error {}
