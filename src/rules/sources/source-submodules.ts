import { shownObject } from '../../facts/shown.ts'
import { at } from '../../kube/node.ts'
import { renderedSubmodules } from '../git/support/rendered-submodules.ts'
import type { Rule } from '../model/rule.ts'

const FIELD = ['spec', 'recurseSubmodules']

/** What a source brings lies in the repository that it names. The renderer raises it, too, where an overlay names a submodule. */
export const sourceSubmodules: Rule = {
  id: 'source-submodules',
  severity: 'high',
  title: 'Sources bring no submodules',
  why: 'A submodule is another repository, named by a file that its author may change to any address. Flux fetches it with the credentials of the source, and nobody judges its branch.',
  source: 'source-controller docs/spec/v1/gitrepositories.md, "Recurse submodules"; CVE-2022-24348 for the class',
  docs: 'Leave `spec.recurseSubmodules` out. Declare the other repository as a source of its own and take it in with `spec.include`.',
  kinds: ['source.toolkit.fluxcd.io/GitRepository'],
  *checkTenantObject({ object, id, node }) {
    const flag = at(object.root, FIELD)
    const isOn = flag?.type === 'scalar' && (flag.value === true || flag.value === 'true')
    if (!isOn) return
    yield {
      node,
      object,
      path: FIELD,
      value: 'true',
      message: `${shownObject(id.kind, id.namespace, id.name)} fetches submodules, which no rule sees. Flux accepts it.`,
      fix: 'Remove spec.recurseSubmodules.',
      edit: { remove: true },
    }
  },
  checkRepository: renderedSubmodules,
}
