import type { PostBuildFacts } from '../flux/substitute/post-build.ts'
import { variablesOf } from '../flux/substitute/variable-source.ts'
import { at, isTrue, type MapNode, stringAt } from '../kube/node.ts'
import { idOf } from '../kube/object.ts'

/**
 * What a request of `render --stdin` says about the cluster: its `objects` are what `substituteFrom` finds in the
 * namespace of the Kustomization; without `strict` a variable that is not set is the empty text.
 */
export function requestFacts(request: MapNode, kustomization: MapNode): PostBuildFacts {
  const list = at(request, ['objects'])
  const objects = list?.type === 'list' ? list.items.filter(item => item.type === 'map') : []
  const namespace = stringAt(kustomization, ['metadata', 'namespace']) ?? ''
  const strict = at(request, ['strict'])
  return {
    strict: isTrue(strict),
    findSource: (kind, name) => {
      const found = objects.find(root => {
        const id = idOf({ root, trail: [] })
        return id.kind === kind && id.name === name && id.namespace === namespace
      })
      return found && { variables: variablesOf(found) }
    },
  }
}
