import { objectPart } from '../../facts/shown.ts'
import { kubernetesVersion } from '../../fleet/model/kubernetes-version.ts'
import { message } from '../../message/message.ts'
import { checkObject } from '../../schema/check-object.ts'
import type { Rule } from '../model/rule.ts'
import { isDecrypted } from './support/is-decrypted.ts'
import { problemText } from './support/problem-text.ts'

/** The API server refuses the whole Kustomization where it refuses one object. */
export const schemaMismatch: Rule = {
  id: 'schema-mismatch',
  severity: 'medium',
  title: 'Object that the API server refuses',
  why: 'Flux applies the objects of a Kustomization together. One unknown field, wrong type or missing field makes the API server refuse the object, and none of the others is applied.',
  source: 'https://github.com/kubernetes/kubernetes/tree/master/api/openapi-spec',
  docs: 'Correct the field. A field that Flux drops before it applies the object is a warning. The rule is evaluated on clusters whose version `kubernetes` of `.github/bailiwick.yaml` declares, for the kinds of Kubernetes itself; `bailiwick validate` compares objects without a declaration. Custom kinds and values that are unknown are not compared.',
  kinds: 'every',
  *checkObject({ object, id, node }, { config }) {
    const version = kubernetesVersion(config, node.cluster)
    if (version === undefined) return
    const { problems, count } = checkObject(object.root, { version, isDecrypted: isDecrypted(node) })
    const who = objectPart(id.kind, id.namespace, id.name)
    for (const problem of problems) {
      const field = problem.path.join('.')
      const level = problem.kind === 'dropped-field' ? 'warning' : 'violation'
      yield {
        node,
        object,
        level,
        path: problem.path,
        value: `${problem.kind} ${field}`,
        ...problemText(problem, who, `1.${version}`),
      }
    }
    if (count <= problems.length) return
    yield {
      node,
      object,
      path: [],
      value: 'more',
      message: message`${who}: ${count - problems.length} more fields do not match Kubernetes 1.${version}. The first ${problems.length} are listed.`,
      fix: message`Correct the listed fields first.`,
    }
  },
}
