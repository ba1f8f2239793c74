import { at, type Node, originAt, type Path } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Origin } from '../../origin.ts'

/** Why a setting of a Kustomization cannot be honored, and the edit. */
export interface SettingsProblem {
  readonly message: string
  readonly fix: string
  readonly origin: Omit<Origin, 'via'>
}

/** Reads typed fields of an object and collects what is wrong with them; a field that is absent or null is not there. */
export class SettingsReader {
  readonly problems: SettingsProblem[] = []
  readonly #root: Node

  constructor(object: KubeObject) {
    this.#root = object.root
  }

  text(path: Path): string | undefined {
    const node = this.#known(path)
    if (node === undefined) return undefined
    if (node.type === 'scalar' && typeof node.value === 'string') return node.value === '' ? undefined : node.value
    this.refuse(path, 'a string')
    return undefined
  }

  required(path: Path): string {
    const before = this.problems.length
    const found = this.text(path)
    if (found === undefined && this.problems.length === before) this.refuse(path, 'set')
    return found ?? ''
  }

  flag(path: Path): boolean {
    const node = this.#known(path)
    if (node === undefined) return false
    if (node.type === 'scalar' && typeof node.value === 'boolean') return node.value
    this.refuse(path, 'true or false')
    return false
  }

  /** The paths of the items of a list. */
  items(path: Path): Path[] {
    const node = this.#known(path)
    if (node === undefined) return []
    if (node.type === 'list') return node.items.map((_, index) => [...path, index])
    this.refuse(path, 'a list')
    return []
  }

  has(path: Path): boolean {
    return this.#known(path) !== undefined
  }

  /** `allowed` completes "is not ..." and says what to write; `why` is what is wrong with what is there. */
  refuse(path: Path, allowed: string, why?: string): void {
    const { via: _via, ...origin } = originAt(this.#root, path)
    const field = fieldText(path)
    const [message, fix] =
      allowed === 'set'
        ? [`${field} is missing`, `Set ${field}.`]
        : [`${field} is not ${allowed}${why === undefined ? '' : `: ${why}`}`, `Write ${allowed} at ${field}.`]
    this.problems.push({ message, fix, origin })
  }

  #known(path: Path): Node | undefined {
    const node = at(this.#root, path)
    if (node === undefined || (node.type === 'scalar' && node.value === null)) return undefined
    if (node.type !== 'scalar' || node.opaque === undefined) return node
    const { via: _via, ...origin } = originAt(this.#root, path)
    const message = `${fieldText(path)} has a value that only the cluster knows`
    this.problems.push({ message, fix: `Write the value at ${fieldText(path)} in git.`, origin })
    return undefined
  }
}

/** `spec.healthChecks[0].kind`. */
function fieldText(path: Path): string {
  return path.map((step, depth) => (typeof step === 'number' ? `[${step}]` : depth === 0 ? step : `.${step}`)).join('')
}
