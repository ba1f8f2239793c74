/** What a source follows. One of its forms is set; a branch is the default form. */
export interface SourceRef {
  readonly branch?: string
  readonly tag?: string
  readonly commit?: string
  readonly semver?: string
  readonly name?: string
}

/** A source that the graph needs and the input does not hold: read it and build again, or pass it as opaque. */
export interface WantedSource {
  readonly url: string
  readonly ref: SourceRef
}
