import type { Json, Node } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import type { Origin, Step } from '../kube/origin.ts'

/**
 * Identity of an object, through what it came, and the place of each of its values: JSON pointer -> `file:line:column`.
 * `show` gives the path of a file as it is to be printed.
 */
export function originsOf(object: KubeObject, show: (file: string) => string): Json {
  const places: [string, Json][] = []
  const file = new Shown(show)
  file.collect(object.root, '', places)
  return { ...idOf(object), trail: object.trail.map(step => file.step(step)), origins: Object.fromEntries(places) }
}

class Shown {
  private readonly show: (file: string) => string

  constructor(show: (file: string) => string) {
    this.show = show
  }

  collect(node: Node, pointer: string, places: [string, Json][]): void {
    if (node.type === 'scalar') {
      places.push([pointer, this.origin(node.origin)])
      return
    }
    const children: Iterable<readonly [string | number, Node]> =
      node.type === 'list' ? node.items.entries() : [...node.fields].map(([key, field]) => [key, field.value] as const)
    let isEmpty = true
    for (const [key, child] of children) {
      isEmpty = false
      const name = String(key).replaceAll('~', '~0').replaceAll('/', '~1')
      this.collect(child, `${pointer}/${name}`, places)
    }
    if (isEmpty) places.push([pointer, this.origin(node.origin)])
  }

  origin(origin: Origin): Json {
    const place = `${this.show(origin.file)}:${origin.line}:${origin.column}`
    return origin.via ? [place, ...origin.via.map(step => this.step(step))] : place
  }

  step({ step, file, line }: Step): string {
    return `${step} ${this.show(file)}:${line}`
  }
}
