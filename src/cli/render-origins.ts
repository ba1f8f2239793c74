import type { Json, Node } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Origin, Step } from '../kube/origin.ts'

/** An object with the place of each of its values: JSON pointer -> `file:line:column`, and through what it came. */
export function originsOf(object: KubeObject): Json {
  const places: [string, Json][] = []
  collect(object.root, '', places)
  return { trail: object.trail.map(showStep), origins: Object.fromEntries(places) }
}

function collect(node: Node, pointer: string, places: [string, Json][]): void {
  if (node.type === 'map') {
    for (const [key, field] of node.fields) {
      collect(field.value, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, places)
    }
  } else if (node.type === 'list')
    node.items.forEach((item, index) => {
      collect(item, `${pointer}/${index}`, places)
    })
  else places.push([pointer, showOrigin(node.origin)])
}

function showOrigin(origin: Origin): Json {
  const place = `${origin.file}:${origin.line}:${origin.column}`
  return origin.via ? [place, ...origin.via.map(showStep)] : place
}

const showStep = (step: Step): string => `${step.step} ${step.file}:${step.line}`
