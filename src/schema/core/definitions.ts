import { isUnknown } from '../model/is-unknown.ts'
import { badValue, itemsIn, mapIn, missingField, type TypeCheck, textIn, wrongWord } from './read-field.ts'

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
