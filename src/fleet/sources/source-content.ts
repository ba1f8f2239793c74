import { BailiwickError } from '../../errors.ts'
import { at, originAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Entry } from '../../kustomize/model/entry.ts'
import type { Origin } from '../../origin.ts'
import { text } from '../model/read-spec.ts'

/** One entry of `spec.include` of a GitRepository. */
export interface IncludeSpec {
  readonly origin: Origin
  /** Name of the GitRepository in the same namespace. */
  readonly name: string
  readonly fromPath: string
  readonly toPath: string
}

/** What a GitRepository asks of its content beside an address and a ref. */
export interface ContentSpec {
  readonly include: readonly IncludeSpec[]
  /** Undefined: all of it. */
  readonly sparse: readonly Entry[] | undefined
  readonly submodules: Origin | undefined
}

const MAX_INCLUDES = 20

/** Reads `include`, `sparseCheckout` and `recurseSubmodules`. Throws `flux-invalid` for what the API server refuses. */
export function contentSpec(source: KubeObject): ContentSpec {
  const submodules = at(source.root, ['spec', 'recurseSubmodules'])
  const recurses = submodules?.type === 'scalar' && submodules.value === true
  return {
    include: items(source, 'include').map(index => {
      const path = ['spec', 'include', index]
      const name = text(source, [...path, 'repository', 'name'])
      if (!name) throw wrong(source, [...path, 'repository'], 'spec.include: an entry has no repository.name')
      const fromPath = text(source, [...path, 'fromPath']) ?? ''
      const toPath = text(source, [...path, 'toPath']) || name
      return { origin: originAt(source.root, [...path, 'repository', 'name']), name, fromPath, toPath }
    }),
    sparse: readSparse(source),
    submodules: recurses ? submodules.origin : undefined,
  }
}

function readSparse(source: KubeObject): Entry[] | undefined {
  const indices = items(source, 'sparseCheckout')
  if (indices.length === 0) return undefined
  return indices.map(index => {
    const path = ['spec', 'sparseCheckout', index]
    return { text: text(source, path) ?? '', origin: originAt(source.root, path) }
  })
}

function items(source: KubeObject, field: string): number[] {
  const list = at(source.root, ['spec', field])
  if (list === undefined || (list.type === 'scalar' && list.value === null)) return []
  if (list.type !== 'list') throw wrong(source, ['spec', field], `spec.${field}: not a list`)
  if (field === 'include' && list.items.length > MAX_INCLUDES) {
    throw wrong(source, ['spec', field], `spec.include: more than ${MAX_INCLUDES} entries`)
  }
  return [...list.items.keys()]
}

function wrong(source: KubeObject, path: readonly (string | number)[], message: string): BailiwickError {
  return new BailiwickError('flux-invalid', message, { origin: originAt(source.root, path), fix: 'Correct the field.' })
}
