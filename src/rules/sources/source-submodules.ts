import { objectPart } from '../../facts/shown.ts'
import { GIT_REPOSITORY } from '../../flux/kinds.ts'
import { at } from '../../kube/node.ts'
import { message } from '../../message/message.ts'
import { renderedSubmodules } from '../git/support/rendered-submodules.ts'
import type { Rule } from '../model/rule.ts'

const FIELD = ['spec', 'recurseSubmodules']

/** What a source brings lies in the repository that it names. The renderer raises it, too, where an overlay names a submodule. */
export const sourceSubmodules: Rule = {
  id: 'source-submodules',
  severity: 'high',
  title: 'Git submodules in a source',
  why: 'A submodule is another repository, at an address that the writer of .gitmodules chooses. Flux fetches it with the credentials of the source, and Bailiwick does not evaluate it.',
  source: 'source-controller docs/spec/v1/gitrepositories.md, "Recurse submodules"; CVE-2022-24348 for the class',
  docs: 'Remove `spec.recurseSubmodules`. Declare the other repository as a separate source and add it with `spec.include`.',
  kinds: [GIT_REPOSITORY],
  *checkTenantObject({ object, id, node }) {
    const flag = at(object.root, FIELD)
    const isOn = flag?.type === 'scalar' && (flag.value === true || flag.value === 'true')
    if (!isOn) return
    yield {
      node,
      object,
      path: FIELD,
      value: 'true',
      message: message`${objectPart(id.kind, id.namespace, id.name)} fetches submodules, which are not evaluated. Allowed: no submodules. Flux accepts it.`,
      fix: message`Remove spec.recurseSubmodules.`,
      edit: { remove: true },
    }
  },
  checkRepository: renderedSubmodules,
}
