/**
 * How much this thread has done, in things instead of time: tests hold that a change costs what it changes. Only the engine
 * counts here, and nothing but tests and benches decides by it.
 */
export const work = {
  /** YAML files, and characters in them. */
  parsed: 0,
  characters: 0,
  /** Nodes, and steps towards roots, that were rendered; fleets that were walked as a whole. */
  rendered: 0,
  walked: 0,
  /** Parts of fleets that rules were asked about, objects in them, and runs of one rule. */
  asked: 0,
  objects: 0,
  rules: 0,
  findings: 0,
  /** Questions to authorizers, and to admission policies. */
  authorized: 0,
  admitted: 0,
  /** Fields that were copied to change one. */
  copied: 0,
}

export type Work = Readonly<typeof work>

/** What was done since `before`, a copy of `work`. */
export const workSince = (before: Work): Work =>
  Object.fromEntries(Object.entries(work).map(([name, count]) => [name, count - before[name as keyof Work]])) as Work
