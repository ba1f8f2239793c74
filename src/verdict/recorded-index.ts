import { Facts } from '../fleet/facts/facts.ts'
import { FleetIndex } from '../fleet/facts/fleet-index.ts'
import { ObjectIndex } from '../fleet/facts/object-index.ts'
import { RightsIndex } from '../fleet/facts/rights-index.ts'
import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { sameButObjects } from '../fleet/model/same-node.ts'
import type { KubeObject } from '../kube/object.ts'

/** A part whose result follows from answers. */
export interface Asker {
  readonly questions: Set<Question>
  /** An answer is another one by now. */
  spoil(): void
}

/** One question with one answer, shared by all that ask it. */
export interface Question {
  readonly key: string
  readonly ask: () => unknown
  answer: unknown
  /** Names of the facts that the answer follows from. */
  used: ReadonlySet<string>
  readonly askers: Set<Asker>
  /** No part asks it any more. */
  drop(): void
}

/**
 * An index that notes who asked what. When the fleet moves on, only questions that a changed fact bears on are asked
 * again, and only parts that got another answer are evaluated again.
 */
export class RecordedIndex {
  /** What rules ask; every public question of FleetIndex goes through `#ask`. */
  readonly view: FleetIndex
  /** Who asks now. */
  asker: Asker | undefined
  readonly #facts: Facts
  readonly #questions = new Map<string, Question>()
  readonly #byFact = new Map<string, Set<Question>>()
  readonly #names = new WeakMap<object, number>()
  #named = 0

  constructor(fleet: Fleet) {
    this.#facts = new Facts(fleet, true)
    this.view = recording(new FleetIndex(this.#facts), (method, args, ask) => this.#ask(method, args, ask))
  }

  has(key: string): boolean {
    return this.#facts.has(key)
  }

  /** From now on the answers are those of `fleet`; a part that got another one before is stale. */
  move(fleet: Fleet): void {
    const changed = this.#facts.move(fleet)
    if (!changed) {
      for (const question of this.#questions.values()) for (const asker of question.askers) asker.spoil()
      this.#questions.clear()
      this.#byFact.clear()
      return
    }
    const touched = new Set([...changed].flatMap(name => [...(this.#byFact.get(name) ?? [])]))
    for (const question of touched) {
      this.#unlink(question)
      const { value, used } = this.#facts.watch(question.ask)
      if (!sameAnswer(question.answer, value)) for (const asker of question.askers) asker.spoil()
      question.answer = value
      question.used = used
      this.#link(question)
    }
  }

  #ask(method: string, args: readonly unknown[], ask: () => unknown): unknown {
    const key = `${method}\0${args.map(arg => this.#nameOf(arg)).join('\0')}`
    let question = this.#questions.get(key)
    if (!question) {
      const { value, used } = this.#facts.watch(ask)
      const made: Question = { key, ask, answer: value, used, askers: new Set(), drop: () => this.#drop(made) }
      question = made
      this.#questions.set(key, question)
      this.#link(question)
    }
    if (this.asker) {
      question.askers.add(this.asker)
      this.asker.questions.add(question)
    }
    return question.answer
  }

  #drop(question: Question): void {
    if (this.#questions.get(question.key) !== question) return
    this.#questions.delete(question.key)
    this.#unlink(question)
  }

  #link(question: Question): void {
    for (const name of question.used) {
      const questions = this.#byFact.get(name)
      if (questions) questions.add(question)
      else this.#byFact.set(name, new Set([question]))
    }
  }

  #unlink(question: Question): void {
    for (const name of question.used) {
      const questions = this.#byFact.get(name)
      questions?.delete(question)
      if (questions?.size === 0) this.#byFact.delete(name)
    }
  }

  /** Texts are themselves; a node or an object is the very one that it is. */
  #nameOf(arg: unknown): string {
    if (typeof arg === 'string') return `"${arg}`
    if (typeof arg !== 'object' || arg === null) return String(arg)
    // a naming is what its id says
    if ('of' in arg && 'id' in arg) return `of ${arg.id}`
    if (!('root' in arg || 'kustomization' in arg)) return JSON.stringify(arg)
    let name = this.#names.get(arg)
    if (name === undefined) {
      name = this.#named++
      this.#names.set(arg, name)
    }
    return `#${name}`
  }
}

/** Takes an asker away from all that it asked. */
export function forget(asker: Asker): void {
  for (const question of asker.questions) {
    question.askers.delete(asker)
    if (question.askers.size === 0) question.drop()
  }
  asker.questions.clear()
}

type Ask = (method: string, args: readonly unknown[], ask: () => unknown) => unknown

/** An index that looks like `index`, each of whose methods is asked through `ask`. */
function recording(index: FleetIndex, ask: Ask): FleetIndex {
  const view: FleetIndex = Object.create(FleetIndex.prototype)
  for (const method of questionsOf()) {
    const answer: (...args: unknown[]) => unknown = Reflect.get(index, method)
    const recorded = (...args: unknown[]) => ask(method, args, () => answer.apply(index, args))
    Object.defineProperty(view, method, { value: recorded })
  }
  return view
}

/** Every public question that a FleetIndex answers. */
export function questionsOf(): string[] {
  return [FleetIndex.prototype, RightsIndex.prototype, ObjectIndex.prototype]
    .flatMap(prototype => Object.getOwnPropertyNames(prototype))
    .filter(name => name !== 'constructor')
}

/**
 * Whether two answers of an index are equal: objects by identity, nodes by everything but what they render.
 * In doubt they differ.
 */
function sameAnswer(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (isNode(a)) return isNode(b) && sameButObjects(a, b)
  if (isObject(a)) return false
  if (Array.isArray(a)) return Array.isArray(b) && sameList(a, b)
  if (a instanceof Map) return b instanceof Map && sameList([...a].flat(), [...b].flat())
  if (a instanceof Set) return b instanceof Set && sameList([...a], [...b])
  const prototype: unknown = Object.getPrototypeOf(a)
  if (prototype !== Object.getPrototypeOf(b) || (prototype !== Object.prototype && prototype !== null)) return false
  return sameList(Object.entries(a).flat(), Object.entries(b).flat())
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => sameAnswer(item, b[index]))
}

const isNode = (value: object): value is FleetNode => 'kustomization' in value && 'identity' in value

const isObject = (value: object): value is KubeObject => 'root' in value && 'trail' in value
