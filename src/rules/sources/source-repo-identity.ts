import { objectPart, quoted } from '../../facts/shown.ts'
import { memberSettings } from '../../fleet/config/member-settings.ts'
import { ANOTHER_REPOSITORY } from '../../fleet/model/input.ts'
import { listed, message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'

/** Where the fleet pins the repositories of a tenant, it deploys from no other one. */
export const sourceRepoIdentity: Rule = {
  id: 'source-repo-identity',
  severity: 'critical',
  title: 'Repository that is not pinned for the tenant',
  why: "A repository can be renamed, transferred or deleted, and another owner can then create a repository with the same address. GitHub's repository id never changes, so a pinned id identifies the repository.",
  docs: 'List every git repository of the tenant with its id under `tenants` in .github/bailiwick.yaml. A tenant without a list may follow any repository. The App asks GitHub whether the id still belongs to the address. The command line cannot.',
  *checkNode(node, { config, index }) {
    const { url, id, opaque } = node.source
    if (node.tenant === undefined || !id.startsWith('GitRepository/') || url === '') return
    const isAnother = opaque === ANOTHER_REPOSITORY
    // of several tenants each one's list counts
    const pinned = memberSettings(config, node.tenant)
      .map(one => one?.repositories)
      .find(one => one !== undefined && one.size > 0 && (isAnother || !one.has(url)))
    if (!pinned) return
    const renderedBy = index.node(node.parent)
    const known = listed([...pinned.keys()].map(one => quoted('repository', one)))
    const what = message`${objectPart('Kustomization', node.namespace, node.name)} deploys from ${quoted('repository', url)}`
    yield {
      node,
      ...(renderedBy ? { renderedBy } : {}),
      object: node.kustomization,
      path: ['spec', 'sourceRef'],
      value: isAnother ? `${url} ${pinned.get(url)}` : url,
      message: isAnother
        ? message`${what}, but the repository at that address no longer has the pinned id ${pinned.get(url) ?? ''}: it was recreated, or another one was renamed to it. Allowed: the repository with that id.`
        : message`${what}, whose identity is not pinned for tenant ${quoted('tenant', node.tenant)}. Allowed: ${known}.`,
      fix: isAnother
        ? message`Set the address to where the pinned repository is now, or pin the id of the new repository.`
        : message`Set the address to a pinned repository, or pin this repository with its id under tenants in .github/bailiwick.yaml.`,
    }
  },
}
