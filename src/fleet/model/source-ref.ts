/** What a source of a repository follows. One of its forms is set; a branch is the default form. */
export interface GitRef {
  readonly branch?: string
  readonly tag?: string
  readonly commit?: string
  readonly semver?: string
  readonly name?: string
}

/** What a source follows. */
export interface SourceRef extends GitRef {
  /** Of an artifact in a registry; none of the others is set then. */
  readonly registry?: RegistryRef
}

/** What an OCIRepository follows in a registry: a digest, or else a range of versions, or else a tag. */
export interface RegistryRef {
  readonly tag?: string
  readonly semver?: string
  /** Regular expression of the tags that count for the range. */
  readonly semverFilter?: string
  readonly digest?: string
  /** Media type of the layer; absent: the first one. */
  readonly layer?: string
  /** The layer is the artifact as it is: nothing is left out of it. */
  readonly copied?: true
  /** Read as anybody may: only a declaration of the platform is read with the operator's credentials. */
  readonly anonymous?: true
}

/** A source that the graph needs and the input does not hold: read it and build again, or pass it as opaque. */
export interface WantedSource {
  readonly url: string
  readonly ref: SourceRef
}
