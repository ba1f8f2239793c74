import { BailiwickError } from '../../errors.ts'
import { writtenText } from '../../kube/edit-node.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import { currentId, NO_NAMESPACE, type Resource } from '../resource/resource.ts'

/** Whether one object can name the other at all: same namespace, or one of them has none, or a RoleBinding says so. */
export function mayRefer(referrer: Resource, target: Resource): boolean {
  const own = currentId(referrer).namespace
  if (own === NO_NAMESPACE) return true
  const other = currentId(target).namespace
  if (other === NO_NAMESPACE || other === own) return true
  const namespace = stringAt(target.root, ['metadata', 'namespace']) ?? ''
  return subjectsOf(referrer).some(subject => writtenText(at(subject, ['namespace'])) === namespace)
}

/** kustomize refuses a RoleBinding with an account whose namespace is written but blank. */
export function blankNamespaces(resource: Resource): void {
  for (const subject of subjectsOf(resource)) {
    const namespace = at(subject, ['namespace'])
    if (namespace?.type === 'scalar' && typeof namespace.value === 'string') continue
    const message = 'the namespace of a subject is blank'
    throw new BailiwickError('kustomize-invalid', message, { origin: namespace?.origin ?? subject.origin })
  }
}

/** Accounts of a RoleBinding that come with a namespace. */
function subjectsOf(resource: Resource): Node[] {
  if (stringAt(resource.root, ['kind']) !== 'RoleBinding') return []
  const subjects = at(resource.root, ['subjects'])
  if (subjects?.type !== 'list') return []
  return subjects.items.filter(subject => {
    const isAccount = stringAt(subject, ['kind']) === 'ServiceAccount'
    return isAccount && subject.type === 'map' && subject.fields.has('namespace')
  })
}
