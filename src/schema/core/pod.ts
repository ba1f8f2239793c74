import { at, type MapNode, type Path } from '../../kube/node.ts'
import { checkSelector } from './labels.ts'
import {
  badValue,
  forbiddenField,
  isHidden,
  isSet,
  isUnknown,
  mapIn,
  mapsIn,
  missingField,
  numberIn,
  type Problem,
  type TypeCheck,
  textIn,
  valueIn,
  wrongWord,
} from './problem.ts'
import { FORMS } from './texts.ts'

type Add = (problem: Problem) => void
const LISTS = ['initContainers', 'containers'] as const
const MOUNTS = ['volumeMounts', 'volumeDevices'] as const

/** Checks of a Pod across its containers (ValidatePodSpec). */
export const checkPod: TypeCheck = (node, path, add) => {
  const first = new Set<string | undefined>()
  for (const [, container] of mapsIn(node, 'initContainers')) first.add(textIn(container, 'name'))
  for (const [index, container] of mapsIn(node, 'containers')) {
    const name = textIn(container, 'name')
    // the check of the list itself reports duplicates within one list
    if (name !== undefined && first.has(name))
      add({
        kind: 'duplicate',
        path: [...path, 'containers', index],
        allowed: 'each name once, also in initContainers',
        found: 'a duplicate',
      })
  }
  if (
    textIn(node, 'dnsPolicy') === 'None' &&
    !isHidden(node, 'dnsConfig') &&
    !isSet(mapIn(node, 'dnsConfig'), 'nameservers')
  )
    add(missingField([...path, 'dnsConfig', 'nameservers'], 'at least one name server where dnsPolicy is None'))
  if (isTrue(node, 'hostNetwork')) checkHostPorts(node, path, add)
}

const isTrue = (node: MapNode, name: string): boolean => {
  const value = node.fields.get(name)?.value
  return value?.type === 'scalar' && value.value === true
}

/** The names of a list's items; undefined if one is not known. */
function namesIn(node: MapNode, list: string): string[] | undefined {
  const names: string[] = []
  for (const [, item] of mapsIn(node, list)) {
    const name = textIn(item, 'name')
    if (name === undefined) return undefined
    names.push(name)
  }
  return isHidden(node, list) ? undefined : names
}

const claimNames = (node: MapNode): (string | undefined)[] =>
  mapsIn(node, 'volumeClaimTemplates').map(([, claim]) => textIn(mapIn(claim, 'metadata'), 'name'))

/** Every mount must name a volume of the Pod or, in a StatefulSet, one of its claim templates. */
const mounts =
  (steps: readonly string[]): TypeCheck =>
  (node, path, add) => {
    const spec = steps.reduce<MapNode | undefined>((at, step) => mapIn(at, step), node)
    const [own, claims] = [spec && namesIn(spec, 'volumes'), claimNames(node)]
    if (spec === undefined || own === undefined || claims.includes(undefined)) return
    const names = new Set([...own, ...(claims as string[])])
    for (const list of LISTS)
      for (const [index, container] of mapsIn(spec, list))
        checkMounts(container, [...path, ...steps, list, index], names, add)
  }

const checkTemplateMounts = mounts(['template', 'spec'])
export const checkPodMounts = mounts(['spec'])

function checkMounts(container: MapNode, path: Path, names: ReadonlySet<string>, add: Add): void {
  for (const list of MOUNTS)
    for (const [index, mount] of mapsIn(container, list)) {
      const name = textIn(mount, 'name')
      if (name !== undefined && !names.has(name))
        add({ ...wrongWord([...path, list, index, 'name'], [...names]), found: 'the name of no volume' })
    }
}

/** The API server refuses spaces around an image in a Pod, but not in a template (ValidatePodCreate). */
export const checkImages: TypeCheck = (node, path, add) => {
  for (const list of LISTS)
    for (const [index, container] of mapsIn(mapIn(node, 'spec'), list)) {
      const image = textIn(container, 'image')
      if (image !== undefined && !FORMS.trimmed.fits(image))
        add(badValue([...path, 'spec', list, index, 'image'], FORMS.trimmed.allowed, 'text of another form'))
    }
}

/** validateVolumeMounts, for one mount. */
export const checkMount: TypeCheck = (node, path, add) => {
  if (isSet(node, 'subPath') && isSet(node, 'subPathExpr'))
    add(forbiddenField([...path, 'subPathExpr'], 'subPath or subPathExpr'))
}

function checkHostPorts(node: MapNode, path: Path, add: Add): void {
  for (const list of LISTS)
    for (const [index, container] of mapsIn(node, list))
      for (const [at, port] of mapsIn(container, 'ports')) {
        const [host, own] = [numberIn(port, 'hostPort'), numberIn(port, 'containerPort')]
        if (host !== undefined && host !== 0 && own !== undefined && host !== own)
          add(
            badValue(
              [...path, list, index, 'ports', at, 'hostPort'],
              'the number of containerPort, because hostNetwork is true',
              'another number',
            ),
          )
      }
}

const PROBES = ['livenessProbe', 'startupProbe'] as const

/** Ports, environment and probes of one container (validateContainerCommon). */
export const checkContainer: TypeCheck = (node, path, add) => {
  const names = new Set<string>()
  for (const [index, port] of mapsIn(node, 'ports')) {
    const name = textIn(port, 'name')
    if (name && names.has(name))
      add({
        kind: 'duplicate',
        path: [...path, 'ports', index, 'name'],
        allowed: 'each name once',
        found: 'a duplicate',
      })
    if (name) names.add(name)
  }
  for (const probe of PROBES) {
    const threshold = numberIn(mapIn(node, probe), 'successThreshold')
    if (threshold !== undefined && threshold > 1)
      add(badValue([...path, probe, 'successThreshold'], '1', 'another number'))
  }
  if (isSet(mapIn(node, 'readinessProbe'), 'terminationGracePeriodSeconds'))
    add(
      forbiddenField(
        [...path, 'readinessProbe', 'terminationGracePeriodSeconds'],
        'this field in livenessProbe and startupProbe',
      ),
    )
}

/** An environment variable cannot have both a value and a source (validateEnv). */
export const checkVariable: TypeCheck = (node, path, add) => {
  if (isSet(node, 'value') && mapIn(node, 'valueFrom') !== undefined && !isHidden(node, 'value'))
    add(forbiddenField([...path, 'valueFrom'], 'value or valueFrom'))
}

/** ValidateSecurityContext. */
export const checkSecurity: TypeCheck = (node, path, add) => {
  const escalation = node.fields.get('allowPrivilegeEscalation')?.value
  if (escalation?.type !== 'scalar' || escalation.value !== false) return
  const here = [...path, 'allowPrivilegeEscalation']
  if (isTrue(node, 'privileged')) add(badValue(here, 'true, because privileged is true', 'false'))
}

/** ValidateTolerations. */
export const checkToleration: TypeCheck = (node, path, add) => {
  const operator = textIn(node, 'operator') ?? 'Equal'
  if (['key', 'operator', 'value', 'effect'].some(name => isHidden(node, name))) return
  if (!isSet(node, 'key') && operator !== 'Exists')
    add(badValue([...path, 'operator'], 'Exists, because key is absent', 'another operator'))
  if (operator === 'Exists' && isSet(node, 'value'))
    add(forbiddenField([...path, 'value'], 'value with the operator Equal'))
  if (isSet(node, 'tolerationSeconds') && textIn(node, 'effect') !== 'NoExecute')
    add(badValue([...path, 'effect'], 'NoExecute, because tolerationSeconds is set', 'another effect'))
}

const FIELD_PATHS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]

/** The Pod fields that an environment variable can refer to (validateObjectFieldSelector); files can refer to others. */
export const checkFieldPath: TypeCheck = (node, path, add) => {
  const [text, version] = [textIn(node, 'fieldPath'), textIn(node, 'apiVersion')]
  if (text === undefined || path.at(-2) !== 'valueFrom') return
  if (version !== undefined && version !== '' && version !== 'v1') add(wrongWord([...path, 'apiVersion'], ['v1']))
  if (!FIELD_PATHS.includes(text) && !/^metadata\.(?:labels|annotations)\['[^']+'\]$/.test(text))
    add({
      ...wrongWord([...path, 'fieldPath'], FIELD_PATHS),
      allowed: `${FIELD_PATHS.join(', ')}, metadata.labels['KEY']`,
    })
}

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
