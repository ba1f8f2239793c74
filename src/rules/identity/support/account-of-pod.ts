import { at, type Node, stringAt } from '../../../kube/node.ts'

/** The account that a pod runs as; `serviceAccount` is the old name of the field, the newer one wins. */
export function accountOfPod(spec: Node): string {
  return stringAt(spec, ['serviceAccountName']) || stringAt(spec, ['serviceAccount']) || 'default'
}

/** Whether a pod gets a token of its account: mounted by itself, or through a projected volume. */
export function getsToken(spec: Node): boolean {
  const mounted = at(spec, ['automountServiceAccountToken'])
  if (!(mounted?.type === 'scalar' && mounted.value === false)) return true
  const volumes = at(spec, ['volumes'])
  return (
    volumes?.type === 'list' &&
    volumes.items.some(volume => {
      const sources = at(volume, ['projected', 'sources'])
      return sources?.type === 'list' && sources.items.some(source => at(source, ['serviceAccountToken']) !== undefined)
    })
  )
}
