import type { Json, Node } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import type { Origin, Step } from '../origin.ts'

/**
 * Who an object is, through what it came, and who wrote each part of it, as `bailiwick render --origins` shows it:
 *
 * - `apiVersion`, `kind`, `namespace` and `name`: its identity ('' for no namespace);
 * - `trail`: the overlays and components that it passed, innermost first, each `step file:line`;
 * - `origins`: for every JSON pointer into the object ('' is the object itself) the place `file:line:column`. A value
 *   that came through something has a list instead: the place where it was written, then each `step file:line` on its
 *   way, first to last. A map or list stands where its key was written.
 *
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

  collect(node: Node, pointer: string, places: [string, Json][], key = node.origin): void {
    places.push([pointer, this.origin(node.type === 'scalar' ? node.origin : key)])
    if (node.type === 'list') {
      for (const [index, item] of node.items.entries()) this.collect(item, `${pointer}/${index}`, places)
    } else if (node.type === 'map') {
      for (const [name, field] of node.fields) {
        const part = name.replaceAll('~', '~0').replaceAll('/', '~1')
        this.collect(field.value, `${pointer}/${part}`, places, field.key)
      }
    }
  }

  origin(origin: Origin): Json {
    const place = `${this.show(origin.file)}:${origin.line}:${origin.column}`
    return origin.via ? [place, ...origin.via.map(step => this.step(step))] : place
  }

  step({ step, file, line }: Step): string {
    return `${step} ${this.show(file)}:${line}`
  }
}
