import type { MapNode } from '../../kube/node.ts'
import {
  badValue,
  bytesIn,
  forbiddenField,
  isHidden,
  isSet,
  isUnknown,
  itemsIn,
  mapIn,
  mapsIn,
  missingField,
  type TypeCheck,
  textIn,
  wrongWord,
} from './problem.ts'
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

const SIDE_EFFECTS = ['None', 'NoneOnDryRun']
const REVIEWS = ['v1', 'v1beta1']

/** validateWebhook. */
export const checkWebhook: TypeCheck = (node, path, add) => {
  const effects = textIn(node, 'sideEffects')
  if (effects === undefined && node.fields.get('sideEffects') === undefined)
    add(missingField([...path, 'sideEffects'], SIDE_EFFECTS.join(', ')))
  else if (effects !== undefined && !SIDE_EFFECTS.includes(effects))
    add(wrongWord([...path, 'sideEffects'], SIDE_EFFECTS))
  const versions = itemsIn(node, 'admissionReviewVersions')
  if (
    versions.length > 0 &&
    !versions.some(one => isUnknown(one) || (one.type === 'scalar' && REVIEWS.includes(String(one.value))))
  )
    add(badValue([...path, 'admissionReviewVersions'], 'a list with v1', 'a list without it'))
}

const LEVELS = ['privileged', 'baseline', 'restricted']
const SECURITY = 'pod-security.kubernetes.io/'

/** The labels that set a Namespace's Pod Security Standard (k8s.io/pod-security-admission). */
export const checkNamespace: TypeCheck = (node, path, add) => {
  const labels = mapIn(mapIn(node, 'metadata'), 'labels')
  if (labels === undefined) return
  for (const mode of ['enforce', 'audit', 'warn']) {
    const written = labels.fields.get(SECURITY + mode)?.value
    // null is an empty text in a map of texts
    const level = written?.type === 'scalar' && written.value === null ? '' : textIn(labels, SECURITY + mode)
    const version = textIn(labels, `${SECURITY}${mode}-version`)
    if (level !== undefined && !LEVELS.includes(level))
      add(wrongWord([...path, 'metadata', 'labels', SECURITY + mode], LEVELS))
    if (version !== undefined && !/^(?:latest|v1\.(?:0|[1-9]\d{0,8}))$/.test(version))
      add(
        badValue(
          [...path, 'metadata', 'labels', `${SECURITY}${mode}-version`],
          'latest, or a version such as v1.36',
          'text of another form',
        ),
      )
  }
}

/** Keys that a Secret must have, by its type (ValidateSecret). */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
}
const ACCOUNT = 'kubernetes.io/service-account.name'

const has = (node: MapNode, key: string): boolean =>
  ['data', 'stringData'].some(name => mapIn(node, name)?.fields.has(key)) ||
  isHidden(node, 'data') ||
  isHidden(node, 'stringData')

export const checkSecret: TypeCheck = (node, path, add) => {
  const type = textIn(node, 'type') ?? ''
  for (const key of Object.hasOwn(NEEDED, type) ? NEEDED[type]! : [])
    if (!has(node, key)) add(missingField([...path, 'data', key], `this key, because type is ${type}`))
  if (type === 'kubernetes.io/basic-auth' && !has(node, 'username') && !has(node, 'password'))
    add(missingField([...path, 'data', 'username'], 'username or password'))
  if (
    type === 'kubernetes.io/service-account-token' &&
    !mapIn(mapIn(node, 'metadata'), 'annotations')?.fields.has(ACCOUNT)
  )
    add(missingField([...path, 'metadata', 'annotations', ACCOUNT], 'the name of a ServiceAccount'))
}

/** Limit on the total bytes of all values of a ConfigMap or Secret. */
const MAX_CONTENT = 1024 * 1024

/** ValidateConfigMap. */
export const checkConfigMap: TypeCheck = (node, path, add) => {
  const [data, binary] = [mapIn(node, 'data'), mapIn(node, 'binaryData')]
  for (const key of binary?.fields.keys() ?? [])
    if (data?.fields.has(key))
      add({
        kind: 'duplicate',
        path: [...path, 'binaryData', key],
        allowed: 'each key in data or in binaryData',
        found: 'a duplicate',
      })
  const texts: string[] = []
  for (const { value } of data?.fields.values() ?? [])
    if (value.type === 'scalar' && typeof value.value === 'string' && !value.opaque) texts.push(value.value)
  let size = 0
  for (const { value } of binary?.fields.values() ?? [])
    if (value.type === 'scalar' && typeof value.value === 'string')
      size += Math.floor((value.value.replaceAll(/[\s=]/g, '').length * 3) / 4)
  size += bytesIn(texts, MAX_CONTENT - size)
  if (size > MAX_CONTENT) add(badValue([...path, 'data'], `at most ${MAX_CONTENT} bytes`, `${size} bytes`))
}
