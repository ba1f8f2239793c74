/** Expressions that no object makes an error. */
export const PASSING_CELS = [
  "object.metadata.name.startsWith('web')",
  'has(object.metadata.labels) && "team" in object.metadata.labels',
  "object.metadata.?labels.?team.orValue('x') in ['dev', 'x']",
  "request.userInfo.username == 'jane'",
  "'devs' in request.userInfo.groups",
  "request.namespace == 'apps'",
  "object.kind != 'Service' || object.spec.type == 'ClusterIP'",
]

export const CELS = [
  ...PASSING_CELS,
  'object.spec.replicas < 4',
  "object.spec.containers.all(c, !c.image.endsWith(':latest'))",
  'object.spec.template.spec.containers.exists(c, has(c.resources))',
  'object.spec.ports.map(p, p.port).sum() > 100',
  "regex.extract(object.metadata.name, '([a-z]+)-').orValue('') == 'web'",
  "regex.replace(object.metadata.name, '-(\\\\d)', '') != 'api'",
  "object.spec.?containers.orValue([]).all(c, image(c.image).registry() != 'quay.io')",
  'has(object.data) && object.data.size() > 2',
  "request.operation == 'CREATE'",
  'oldObject == null',
  "quantity('64Mi').isLessThan(quantity('1Gi'))",
  "object.metadata.name.matches('^[a-z]+-[0-9]$')",
  'object.nothing == 1',
  "namespaceObject.metadata.name == 'apps'",
  "object.data.level.split('-')[0] == 'low'",
]
