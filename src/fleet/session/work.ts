/** How much had to be done, for tests that count it. */
export interface Work {
  /** Nodes, and steps towards roots, that were rendered. */
  rendered: number
  /** Fleets that were walked as a whole. */
  walked: number
}
