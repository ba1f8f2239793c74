import { hashOf } from '../../../facts/fingerprint.ts'
import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { objectPart } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { userOfAccount } from '../../../kube/rbac/groups-of.ts'
import { readBinding } from '../../../kube/rbac/read-binding.ts'
import { message } from '../../../message/message.ts'
import { immutableChanges } from '../../../schema/immutable-changes.ts'
import { hasImmutableFields } from '../../../schema/immutable-fields.ts'
import type { Violation } from '../../model/rule.ts'
import { problemText } from './problem-text.ts'
import { updatedFrom } from './updated-from.ts'

/** What the change does to fields that the API server lets nobody change. `isDeclared`: the fleet says which version it is. */
export function* refusedUpdates(
  { object, id, kind, node }: Subject,
  before: FleetIndex,
  isDeclared: boolean,
): Iterable<Violation> {
  if (!hasImmutableFields(kind)) return
  const was = updatedFrom({ object, id, kind, node }, before)
  if (was === undefined || was === object) return
  const who = objectPart(id.kind, id.namespace, id.name)
  for (const problem of immutableChanges(kind, was.root, object.root)) {
    yield {
      node,
      object,
      level: isDeclared || problem.words ? 'violation' : 'warning',
      path: problem.path,
      value: `${problem.kind} ${problem.path.join('.')}`,
      ...problemText(problem, who, message`the API server`),
      ...(problem.path[0] === 'roleRef' ? followsRights(object) : {}),
    }
  }
}

/** What the account of a binding cannot apply by its new role is account-cannot-apply's, which names the role that was meant. */
function followsRights(object: KubeObject): Pick<Violation, 'follows'> {
  const { namespace = '', subjects = [] } = readBinding(object) ?? {}
  const account = subjects.find(({ kind }) => kind === 'ServiceAccount')
  return account ? { follows: hashOf(['rights', userOfAccount(account.namespace, account.name), namespace]) } : {}
}
