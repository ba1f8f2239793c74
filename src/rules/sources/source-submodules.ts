import type { EvaluatedRepository } from '../../facts/evaluated-repository.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import { GIT_REPOSITORY } from '../../flux/kinds.ts'
import { at } from '../../kube/node.ts'
import { codeWord, message } from '../../message/message.ts'
import { violationIn } from '../git/support/in-repository.ts'
import { renderedDirectories } from '../git/support/rendered-tree.ts'
import type { Rule, Violation } from '../model/rule.ts'

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

/** Submodules in what is rendered: empty here, and whatever another repository holds where Flux recurses into them. */
function* renderedSubmodules(repository: EvaluatedRepository): Generator<Violation> {
  for (const { facts, readerOf } of renderedDirectories(repository)) {
    for (const entry of facts.submodules) {
      const reader = readerOf(entry)
      if (!reader) continue
      yield violationIn(repository, reader, entry.path, {
        value: `submodule ${entry.path}`,
        message: message`${quoted('path', entry.path)} is a submodule: its content comes from another repository and is not evaluated. Allowed: files in this repository. Flux leaves it empty unless the source sets ${codeWord('spec.recurseSubmodules')}.`,
        fix: message`Copy the files into this repository, or declare the other repository as a source with its own Kustomization.`,
      })
    }
  }
}
