import type { Made, Node, ValueHolder } from '../../kube/node.ts'
import type { Origin, Step } from '../../origin.ts'
import { emitScalar } from './emit-scalar.ts'
import { envsubst } from './envsubst.ts'
import { readFragment } from './read-fragment.ts'
import { readScalar, type ScalarPosition } from './read-scalar.ts'
import type { Substitution } from './substitution.ts'
import type { Variable } from './variable.ts'

/** Where a scalar is written in the text that Flux substitutes in. */
export interface ScalarPlace {
  readonly position: ScalarPosition
  /** Indent of the map or list that it is part of. */
  readonly indent: number
  /** Column behind its key or dash. */
  readonly column: number
  /** The first line of a list below it goes on behind it. */
  readonly inline: boolean
}

/** What a text became. */
export interface Expanded {
  readonly node: Node
  /** Where the text was written, through the values that were put into it. */
  readonly origin: Origin
  /** A number with a fraction or exponent: as a key it is written differently. */
  readonly float: boolean
  /** Only the cluster knows it, `node` is the text as it was: who holds the values. */
  readonly opaque?: readonly ValueHolder[]
  /** What made it beside plain variables. */
  readonly how?: Made['how']
}

/**
 * One text of an object written as YAML, substituted and read again. Throws TemplateError for what Flux refuses, and for
 * what would change more than this text.
 */
export function substituteScalar(
  value: string,
  written: Origin,
  place: ScalarPlace,
  substitution: Substitution,
): Expanded {
  const indent = place.indent + 2
  const emitted = emitScalar(value, { column: place.column, indent, key: place.position === 'key' })
  const { text, used, opaque, how } = envsubst(emitted.text, { ...substitution, origin: written })
  const origin = through(written, used)
  const made = { origin, float: false, ...(opaque ? { opaque } : {}), ...(how ? { how } : {}) }
  if (opaque) return { ...made, node: { type: 'scalar', value, origin } }
  const read = readScalar({ text, style: emitted.style }, place.position, indent)
  if (read.type === 'fragment') return { ...made, node: readFragment(read.text, place.position, origin) }
  return { ...made, node: { type: 'scalar', value: read.value, origin }, float: read.float === true }
}

function through(origin: Origin, used: readonly Variable[]): Origin {
  if (used.length === 0) return origin
  const steps = used.map((variable): Step => {
    const { file, line } = variable.origin
    return { step: 'substitution', file, line }
  })
  return { ...origin, via: [...(origin.via ?? []), ...steps] }
}
