/**
 * Incremented whenever the same input may give another verdict, by a change in a rule, the renderer or the graph. It is
 * part of every revision set, so no result of an older engine is ever applied by a newer one.
 */
export const ENGINE_VERSION = '6'
