import {
  badValue,
  forbiddenField,
  isHidden,
  mapIn,
  missingField,
  numberIn,
  type TypeCheck,
  textIn,
} from './read-field.ts'

/** validateHorizontalPodAutoscalerSpec. */
export const checkAutoscaler: TypeCheck = (node, path, add) => {
  const [least, most] = [numberIn(node, 'minReplicas'), numberIn(node, 'maxReplicas')]
  if (least !== undefined && most !== undefined && most >= 1 && most < least)
    add(badValue([...path, 'maxReplicas'], 'at least minReplicas', 'a smaller number'))
}

const SOURCES: Readonly<Record<string, string>> = {
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
  External: 'external',
  ContainerResource: 'containerResource',
}

/** validateMetricSpec. */
export const checkMetric: TypeCheck = (node, path, add) => {
  const type = textIn(node, 'type')
  if (type === undefined || !Object.hasOwn(SOURCES, type)) return
  const own = SOURCES[type]!
  if (!mapIn(node, own) && !isHidden(node, own))
    add(missingField([...path, own], `this field, because type is ${type}`))
  for (const other of Object.values(SOURCES))
    if (other !== own && mapIn(node, other)) add(forbiddenField([...path, other], `${own}, because type is ${type}`))
}
