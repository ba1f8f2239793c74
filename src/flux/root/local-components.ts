import { BailiwickError } from '../../errors.ts'
import { at, isTrue, type MapNode, type Node } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import { specTexts } from './spec-fields.ts'

/** What a path leads to. */
export type PathState = 'there' | 'absent' | 'outside'

const REMOTE = ['git::', 'gh:', 'ssh://', 'https://', 'http://', 'git@', 'github.com:', 'github.com/']

/**
 * `spec.components`, without those that are not there where `spec.ignoreMissingComponents` says so. Throws `flux-invalid`
 * for a path that is not local and relative (IsLocalRelativePath of fluxcd/pkg kustomize), or leads out of the source.
 */
export function localComponents(kustomization: MapNode, find: (path: string) => PathState): Node[] {
  const ignoresMissing = isTrue(at(kustomization, ['spec', 'ignoreMissingComponents']))
  return specTexts(kustomization, ['spec', 'components']).flatMap(node => {
    const { value, origin } = node
    if (!isLocal(value)) {
      const identity = `the component ${JSON.stringify(value.slice(0, 200))} is no local and relative path`
      const message = `spec.components: ${JSON.stringify(value.slice(0, 200))} is not a local, relative path`
      const fix = 'Use a directory of the same source, relative to spec.path.'
      const isRemote = !/^(?:file:\/\/)?\//i.test(value)
      const rule = isRemote ? 'kustomize-remote-base' : 'kustomize-path-escape'
      throw new BailiwickError('flux-invalid', message, { origin, rule, fix, identity })
    }
    if (!ignoresMissing) return [node]
    const found = find(value)
    if (found === 'outside') refuseOutside(value, origin)
    return found === 'absent' ? [] : [node]
  })
}

/** It could never be there, so only an attack asks for it to be ignored. */
function refuseOutside(path: string, origin: Origin): never {
  const identity = `the component ${JSON.stringify(path.slice(0, 200))} lies outside of the repository`
  const message = `spec.components: ${JSON.stringify(path.slice(0, 200))} is outside of the repository`
  const fix = 'Use a directory of the same source, relative to spec.path.'
  throw new BailiwickError('flux-invalid', message, { origin, rule: 'kustomize-path-escape', fix, identity })
}

function isLocal(path: string): boolean {
  const lower = path.toLowerCase()
  if (REMOTE.some(prefix => path.length > prefix.length && lower.startsWith(prefix))) return false
  return !path.startsWith('/') && !lower.replace(/^file:\/\//, '').startsWith('/')
}
