/** Who can see a repository on GitHub; `internal` is everybody of the enterprise, not everybody. */
export type Visibility = 'public' | 'internal' | 'private'

const WIDTH: Record<Visibility, number> = { private: 0, internal: 1, public: 2 }

/** Whether more people can see what is published at `place` than can see the source. */
export const isWider = (place: Visibility, source: Visibility): boolean => WIDTH[place] > WIDTH[source]
