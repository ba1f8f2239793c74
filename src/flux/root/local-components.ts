import { BailiwickError } from '../../errors.ts'
import { at, type MapNode, type Node } from '../../kube/node.ts'
import { specTexts } from './spec-fields.ts'

const REMOTE = ['git::', 'gh:', 'ssh://', 'https://', 'http://', 'git@', 'github.com:', 'github.com/']

/**
 * `spec.components`, without those that are not there where `spec.ignoreMissingComponents` says so. Throws `flux-invalid`
 * for a path that is not local and relative (IsLocalRelativePath of fluxcd/pkg kustomize).
 */
export function localComponents(kustomization: MapNode, exists: (path: string) => boolean): Node[] {
  const ignore = at(kustomization, ['spec', 'ignoreMissingComponents'])
  const ignoresMissing = ignore?.type === 'scalar' && ignore.value === true
  return specTexts(kustomization, ['spec', 'components']).flatMap(node => {
    const { value, origin } = node
    if (!isLocal(value)) {
      const message = `the component ${JSON.stringify(value.slice(0, 200))} is no local and relative path`
      const fix = 'Name a directory of the same source, relative to spec.path.'
      const isRemote = !/^(?:file:\/\/)?\//i.test(value)
      const rule = isRemote ? 'kustomize-remote-base' : 'kustomize-path-escape'
      throw new BailiwickError('flux-invalid', message, { origin, rule, fix })
    }
    return ignoresMissing && !exists(value) ? [] : [node]
  })
}

function isLocal(path: string): boolean {
  const lower = path.toLowerCase()
  if (REMOTE.some(prefix => path.length > prefix.length && lower.startsWith(prefix))) return false
  return !path.startsWith('/') && !lower.replace(/^file:\/\//, '').startsWith('/')
}
