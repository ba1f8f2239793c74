import {
  badValue,
  forbiddenField,
  isHidden,
  isSet,
  itemsIn,
  mapsIn,
  missingField,
  type TypeCheck,
  textIn,
  wrongWord,
} from './read-field.ts'
import { FORMS } from './texts.ts'

const RBAC = 'rbac.authorization.k8s.io'
const KINDS = ['ServiceAccount', 'User', 'Group']

/** The kind that a binding may refer to: `ClusterRole` for a ClusterRoleBinding; a RoleBinding may also use `Role` (ValidateRoleBinding). */
const binding =
  (roles: readonly string[], isScoped: boolean): TypeCheck =>
  (node, path, add) => {
    const ref = node.fields.get('roleRef')?.value
    if (ref?.type === 'map') {
      const here = [...path, 'roleRef']
      const [kind, group] = [textIn(ref, 'kind'), textIn(ref, 'apiGroup')]
      if (kind !== undefined && !roles.includes(kind)) add(wrongWord([...here, 'kind'], roles))
      if (group !== undefined && group !== '' && group !== RBAC) add(wrongWord([...here, 'apiGroup'], [RBAC]))
      if (!isSet(ref, 'name') && !isHidden(ref, 'name')) add(missingField([...here, 'name']))
    }
    for (const [index, subject] of mapsIn(node, 'subjects')) {
      const [here, kind, group] = [[...path, 'subjects', index], textIn(subject, 'kind'), textIn(subject, 'apiGroup')]
      if (kind === undefined) continue
      if (!KINDS.includes(kind)) add(wrongWord([...here, 'kind'], KINDS))
      else if (kind === 'ServiceAccount') {
        if (group) add(badValue([...here, 'apiGroup'], 'no value, because kind is ServiceAccount', 'a value'))
        // the default is the RoleBinding's own namespace
        if (!isScoped && !isSet(subject, 'namespace') && !isHidden(subject, 'namespace'))
          add(missingField([...here, 'namespace'], 'the namespace of the ServiceAccount'))
      } else if (group && group !== RBAC) add(wrongWord([...here, 'apiGroup'], [RBAC]))
      const name = textIn(subject, 'name')
      if (!isSet(subject, 'name') && !isHidden(subject, 'name')) add(missingField([...here, 'name']))
      else if (name && kind === 'ServiceAccount' && !FORMS.subdomain.fits(name))
        add(badValue([...here, 'name'], FORMS.subdomain.allowed, 'text of another form'))
    }
  }

export const checkRoleBinding = binding(['Role', 'ClusterRole'], true)
export const checkClusterRoleBinding = binding(['ClusterRole'], false)

/** ValidatePolicyRule; a Role cannot have rules for non-resource URLs. */
const rules =
  (isScoped: boolean): TypeCheck =>
  (node, path, add) => {
    for (const [index, rule] of mapsIn(node, 'rules')) {
      const here = () => [...path, 'rules', index]
      const [groups, resources] = [itemsIn(rule, 'apiGroups').length, itemsIn(rule, 'resources').length]
      if (itemsIn(rule, 'nonResourceURLs').length > 0) {
        if (isScoped) add(forbiddenField([...here(), 'nonResourceURLs'], 'this field in a ClusterRole'))
        else if (groups > 0 || resources > 0)
          add(forbiddenField([...here(), 'nonResourceURLs'], 'nonResourceURLs in a rule of its own'))
        continue
      }
      if (groups === 0) add(missingField([...here(), 'apiGroups'], 'at least one API group, "" for that of Pods'))
      if (resources === 0) add(missingField([...here(), 'resources'], 'at least one resource'))
    }
  }

export const checkRole = rules(true)
export const checkClusterRole = rules(false)
