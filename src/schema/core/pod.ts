import type { MapNode, Path } from '../../kube/node.ts'
import type { Problem } from '../model/problem.ts'
import {
  badValue,
  forbiddenField,
  isHidden,
  isSet,
  mapIn,
  mapsIn,
  missingField,
  numberIn,
  type TypeCheck,
  textIn,
  wrongWord,
} from './read-field.ts'
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

export const checkTemplateMounts = mounts(['template', 'spec'])
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
