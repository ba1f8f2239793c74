import { type Aliases, addressIn } from '../fleet/model/address-in.ts'
import { canonicalRef } from '../fleet/model/ref.ts'
import type { SourceRef } from '../fleet/model/source-ref.ts'
import { type Path, stringAt } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'

/** What a GitRepository follows: the repository in one spelling, and the one field of `spec.ref` that counts for Flux. */
interface Followed {
  readonly url: string
  readonly ref: SourceRef
}

/** Reads what a GitRepository follows; fields that are no text count as absent. */
export function followedBy(object: KubeObject, aliases: Aliases): Followed {
  return {
    url: addressIn(aliases, stringAt(object.root, ['spec', 'url']) ?? ''),
    ref: readRef(object, ['spec', 'ref']),
  }
}

/** A ref of Flux, in one form. */
export function readRef(object: KubeObject, path: Path): SourceRef {
  const fields = ['branch', 'tag', 'semver', 'name', 'commit'].flatMap(field => {
    const value = stringAt(object.root, [...path, field])
    return value ? [[field, value]] : []
  })
  return canonicalRef(Object.fromEntries(fields))
}

/** Where a ref that counts is written: the field, or `spec.ref` for a branch that is not named. */
export function refPath(object: KubeObject): Path {
  const fields = ['commit', 'name', 'semver', 'tag', 'branch']
  const field = fields.find(one => stringAt(object.root, ['spec', 'ref', one]))
  return field === undefined ? ['spec', 'ref'] : ['spec', 'ref', field]
}

const VERSION = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/

/** Whether a tag is only a later version of the other one: three numbers each, without what a prerelease is called. */
export function isNextVersion(tag: string, was: string): boolean {
  const [now, before] = [VERSION.exec(tag), VERSION.exec(was)]
  if (!now || !before) return false
  const at = [1, 2, 3].find(index => Number(now[index]) !== Number(before[index]))
  return at !== undefined && Number(now[at]) > Number(before[at])
}

/** For messages. */
export function wordsOf(ref: SourceRef): string {
  const [kind, value] = Object.entries(ref)[0] ?? ['branch', 'master']
  return `${kind} ${value}`
}
