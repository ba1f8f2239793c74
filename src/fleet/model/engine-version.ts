/**
 * Raised whenever the same input may give another verdict: a rule, the renderer, the graph. It is part of every
 * combination, so nothing that an older engine said is ever applied by a newer one.
 */
export const ENGINE_VERSION = '5'
