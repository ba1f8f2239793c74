/** Why cel-go's compiler refuses an expression. */
export class RuleTypeError extends Error {}
