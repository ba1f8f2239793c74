/** The expression is no CEL, or asks for something that is not supported here. */
export class CelSyntaxError extends Error {}

/** The expression is larger than what is read here; another program may read it. */
export class CelLimitError extends CelSyntaxError {}

/** The expression cannot be worked out for this input: `&&` and `||` may do without. */
export class CelError extends Error {}

/** The expression takes too much work, whatever the input is. */
export class CelBudgetError extends Error {}

/** The result depends on what only the cluster knows: `&&` and `||` may do without. */
export class CelUnknownError extends Error {}
