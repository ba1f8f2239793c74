import { shown, shownName } from '../../facts/shown.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { followedText, isSame } from './followed-text.ts'

/**
 * Clusters that follow another revision or repository from now on: from there on nothing that is merged here reaches them, and
 * what does is evaluated only as far as that is visible.
 */
export function followedRoots(head: Fleet, base: Fleet): RequiredApproval[] {
  const before = new Map(rootsOf(base).map(node => [node.cluster, node]))
  return rootsOf(head).flatMap(node => {
    const was = before.get(node.cluster)
    const { opaque, unmatched } = node.source
    // another address is an evaluation error, and what was not visible before is no news
    if (!was || unmatched || (isSame(was, node) && (was.source.opaque !== undefined || opaque === undefined))) return []
    const seen = opaque === undefined ? '' : `. That is not visible, so nothing of it is evaluated: ${opaque}`
    const message = `cluster ${shownName(node.cluster)}: it would follow ${shown(followedText(node))}, not ${shown(followedText(was))} as before${seen}`
    const rule = opaque === undefined ? 'source-ungated-ref' : 'source-opaque'
    return [{ rule, path: node.kustomization.root.origin.file, message }]
  })
}

const rootsOf = ({ nodes }: Fleet) => nodes.filter(({ parent }) => parent === undefined)
