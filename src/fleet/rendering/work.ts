/** How far the walk of a fleet is. `known`: renderings that were spared; `total`: the nodes of the state before. */
export interface WalkProgress {
  readonly rendered: number
  readonly known: number
  readonly total?: number
}

/** How much had to be done, for tests that count it. */
export interface Work {
  /** Nodes, and steps towards roots, that were rendered. */
  rendered: number
  /** Fleets that were walked as a whole. */
  walked: number
}

/** Follows what is worked on, for whoever has to end it, and keeps from it what had to be ended before. */
export interface Watch {
  /** The node that is rendered or evaluated from now on; '' for something else. */
  readonly running: (key: string) => void
  /** Keys of nodes that are not rendered: each is an error (`evaluation-limits`). */
  readonly stopped: ReadonlySet<string>
}
