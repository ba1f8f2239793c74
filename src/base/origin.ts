/** How a value came to be where it is, one step per writer: the overlay's entry that names it. */
export interface Step {
  readonly step:
    | 'resource'
    | 'component'
    | 'patch'
    | 'generator'
    | 'transformer'
    | 'reference'
    | 'replacement'
    | 'flux-target-namespace'
    | 'flux-patch'
    | 'flux-component'
    | 'substitution'
    | 'local-config'
    | 'kustomization'
  readonly file: string
  readonly line: number
}

/** A line of a file, without how the value came there. */
export type SourceLine = Pick<Origin, 'repository' | 'file' | 'line'>

/** Where a value was written: 1-based line and column of a file of a repository. */
export interface Origin {
  /** Normalized address of the repository; '' for a plain folder. */
  readonly repository: string
  /** Path relative to the root of the repository. */
  readonly file: string
  readonly line: number
  readonly column: number
  /** What brought the value here, innermost first; absent where the value is used where it is written. */
  readonly via?: readonly Step[]
}
