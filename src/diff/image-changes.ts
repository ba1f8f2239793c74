import { display, type ObjectId } from '../kube/object.ts'
import { visible } from '../message/visible.ts'
import type { ImageChange } from './changes.ts'
import type { Operation } from './diff-nodes.ts'
import { valueText } from './field-value.ts'
import type { SecretWords } from './secret-words.ts'

const CONTAINERS = new Set(['containers', 'initContainers', 'ephemeralContainers'])

/** Collects which image of containers becomes which other one, and where. */
export class ImageChanges {
  readonly #found = new Map<string, { was: string; now: string; objects: string[] }>()

  add(id: ObjectId, operations: readonly Operation[], words: SecretWords): void {
    for (const { path, was, now } of operations) {
      const isImage = path.at(-1) === 'image' && CONTAINERS.has(String(path.at(-3)))
      const [old, young] = [was && valueText(was, words), now && valueText(now, words)]
      if (!isImage || old === undefined || young === undefined) continue
      const key = `${old}\0${young}`
      const image = this.#found.get(key) ?? { was: old, now: young, objects: [] }
      const name = visible(display(id), 200)
      if (!image.objects.includes(name)) image.objects.push(name)
      this.#found.set(key, image)
    }
  }

  list(): ImageChange[] {
    const of = ({ was, now }: ImageChange) => `${was}\0${now}`
    return [...this.#found.values()].sort((a, b) => (of(a) < of(b) ? -1 : 1))
  }
}
