import { at, type MapNode } from '../../kube/node.ts'
import { isUnknown } from '../model/is-unknown.ts'
import { checkSelector } from './labels.ts'
import { checkTemplateMounts } from './pod.ts'
import {
  badValue,
  forbiddenField,
  isHidden,
  isSet,
  mapIn,
  missingField,
  numberIn,
  type TypeCheck,
  textIn,
  valueIn,
  wrongWord,
} from './read-field.ts'

/** A workload's Pods must use restartPolicy Always (ValidatePodTemplateSpecForReplicaSet and similar functions). */
const checkTemplate: TypeCheck = (node, path, add) => {
  const spec = mapIn(mapIn(node, 'template'), 'spec')
  if (spec === undefined) return
  const here = [...path, 'template', 'spec']
  const policy = textIn(spec, 'restartPolicy')
  if (policy !== undefined && policy !== '' && policy !== 'Always')
    add(wrongWord([...here, 'restartPolicy'], ['Always']))
  if (isSet(spec, 'activeDeadlineSeconds'))
    add(forbiddenField([...here, 'activeDeadlineSeconds'], 'this field in Pods and Jobs'))
}

const PERCENT = /^\d+%$/

/** A number or a percentage of Pods. */
const checkShare = (
  node: MapNode | undefined,
  name: string,
  path: readonly (string | number)[],
  add: Parameters<TypeCheck>[2],
  most = Infinity,
): void => {
  const [text, number] = [textIn(node, name), numberIn(node, name)]
  if (text !== undefined && !PERCENT.test(text))
    add(badValue([...path, name], 'a whole number, or a percentage such as 25%', 'text of another form'))
  else if (text !== undefined && Number.parseInt(text, 10) > most)
    add(badValue([...path, name], `at most ${most}%`, 'a larger percentage'))
  if (number !== undefined && number < 0) add(badValue([...path, name], 'a number of at least 0', 'a negative number'))
}

const isNothing = (node: MapNode | undefined, name: string): boolean => {
  const value = valueIn(node, name)
  return value?.type === 'scalar' && !isUnknown(value) && /^0+%?$/.test(String(value.value))
}

const strategy =
  (field: string, isSurge: boolean): TypeCheck =>
  (node, path, add) => {
    const own = mapIn(node, field)
    if (own === undefined) return
    const [rolling, here] = [mapIn(own, 'rollingUpdate'), [...path, field, 'rollingUpdate']]
    const type = textIn(own, 'type')
    if (rolling && type !== undefined && type !== '' && type !== 'RollingUpdate')
      add(forbiddenField(here, 'this field where type is RollingUpdate'))
    checkShare(rolling, 'maxUnavailable', here, add, 100)
    if (!isSurge) return
    checkShare(rolling, 'maxSurge', here, add)
    if (isNothing(rolling, 'maxSurge') && isNothing(rolling, 'maxUnavailable'))
      add(badValue([...here, 'maxUnavailable'], 'more than 0, because maxSurge is 0', '0'))
  }

const checkStrategy = strategy('strategy', true)
const checkDaemonStrategy = strategy('updateStrategy', true)
const checkSetStrategy = strategy('updateStrategy', false)

/** The progress deadline must be longer than the time that a Pod needs to count as available. */
const checkDeadline: TypeCheck = (node, path, add) => {
  if (isHidden(node, 'progressDeadlineSeconds') || isHidden(node, 'minReadySeconds')) return
  const deadline = numberIn(node, 'progressDeadlineSeconds') ?? 600
  if ((numberIn(node, 'minReadySeconds') ?? 0) >= deadline)
    add(badValue([...path, 'progressDeadlineSeconds'], 'more than minReadySeconds', 'a smaller number'))
}

/** ValidateJobSpec. */
const checkJob: TypeCheck = (node, path, add) => {
  if (isHidden(node, 'completionMode')) return
  const isIndexed = textIn(node, 'completionMode') === 'Indexed'
  // without either number the Job runs one Pod
  if (isIndexed && isSet(node, 'parallelism') && !isSet(node, 'completions'))
    add(missingField([...path, 'completions'], 'a number, because completionMode is Indexed'))
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes', 'successPolicy'])
    if (!isIndexed && isSet(node, name))
      add(forbiddenField([...path, name], 'this field where completionMode is Indexed'))
}

const RESTART_OF_JOBS = ['Never', 'OnFailure']

/** A Job must say how its Pods restart: the default of other workloads, Always, is refused (ValidateJobSpec). */
const checkRestart: TypeCheck = (node, path, add) => {
  const spec = mapIn(mapIn(node, 'template'), 'spec')
  if (spec === undefined || isHidden(spec, 'restartPolicy')) return
  const policy = valueIn(spec, 'restartPolicy')
  if (policy?.type === 'scalar' && RESTART_OF_JOBS.includes(String(policy.value))) return
  const here = [...path, 'template', 'spec', 'restartPolicy']
  if (isSet(spec, 'restartPolicy')) add(wrongWord(here, RESTART_OF_JOBS))
  else add(missingField(here, RESTART_OF_JOBS.join(', ')))
}

/** A custom selector requires `manualSelector`. */
const checkManualSelector: TypeCheck = (node, path, add) => {
  if (path.length !== 1) return
  const manual = at(node, ['manualSelector'])
  const isManual = manual?.type === 'scalar' && (manual.value === true || isUnknown(manual))
  if (mapIn(node, 'selector') && !isManual)
    add(forbiddenField([...path, 'selector'], 'a selector where manualSelector is true'))
}

export const WORKLOADS: Readonly<Record<string, readonly TypeCheck[]>> = {
  'apps.v1.DeploymentSpec': [checkSelector, checkTemplate, checkTemplateMounts, checkStrategy, checkDeadline],
  'apps.v1.ReplicaSetSpec': [checkSelector, checkTemplate, checkTemplateMounts],
  'apps.v1.StatefulSetSpec': [checkSelector, checkTemplate, checkTemplateMounts, checkSetStrategy],
  'apps.v1.DaemonSetSpec': [checkSelector, checkTemplate, checkTemplateMounts, checkDaemonStrategy],
  'batch.v1.JobSpec': [checkJob, checkManualSelector, checkTemplateMounts, checkRestart],
}

/** The selector must select the Pods of the template, of whose labels it is a copy by default (ValidateReplicationControllerSpec). */
export const checkController: TypeCheck = (node, path, add) => {
  const labels = mapIn(mapIn(mapIn(node, 'template'), 'metadata'), 'labels')
  if (isHidden(node, 'selector') || isHidden(node, 'template')) return
  const selector = mapIn(node, 'selector')
  if ((selector ?? labels)?.fields.size === undefined || (selector ?? labels)?.fields.size === 0) {
    if ((labels?.fields.size ?? 0) === 0) add(missingField([...path, 'selector'], 'at least one label'))
    return
  }
  for (const [key, { value }] of selector?.fields ?? []) {
    const label = labels?.fields.get(key)?.value
    if (isUnknown(value) || (label !== undefined && isUnknown(label))) continue
    if (label?.type === 'scalar' && value.type === 'scalar' && label.value === value.value) continue
    add(
      badValue(
        [...path, 'template', 'metadata', 'labels'],
        'labels that spec.selector matches',
        'without the labels of the selector',
      ),
    )
    return
  }
}

/** The Pod counts of a PodDisruptionBudget. */
export const checkBudget: TypeCheck = (node, path, add) => {
  for (const name of ['minAvailable', 'maxUnavailable']) checkShare(node, name, path, add, 100)
}
