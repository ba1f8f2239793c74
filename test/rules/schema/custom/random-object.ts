import type { Json } from '../../../../src/kube/node.ts'
import { matchesText } from '../../../../src/schema/core/texts.ts'
import { ANYTHING, type CustomSchema } from '../../../../src/schema/custom/custom-schema.ts'

type Random = () => number
type JsonMap = { [key: string]: Json }

/** The same numbers for the same seed. */
export function randomOf(seed: number): Random {
  let state = seed + 0x6d2b79f5
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
}

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]!

const WORDS = [
  ...['', 'a', 'b', 'a.b', '*', 'a-b', '/', '/a', '*.example.com', 'example.com', 'https://a.example.com/x', 'Secret'],
  ...['Service', 'ConfigMap', 'core', 'v1', '10.0.0.1', '10.0.0.0/8', '2001:db8::1', '5m', '1h30m', '0s', '1Gi', '50%'],
  ...['2026-01-31T12:00:00Z', '^a+$', '(', 'default', 'a'.repeat(40), 'é', 'system:serviceaccount:a:b', '1.2.3', 'x/y'],
]
const NUMBERS = [0, 1, 2, 3, 5, 10, 80, 100, 443, 1000, 65_535, -1, 200, 302, 500]

/** Texts that the rules of a schema name: values that decide them. */
export function textsIn(schema: Json): string[] {
  const found = new Set<string>()
  const visit = (json: Json): void => {
    if (typeof json !== 'object' || json === null) return
    const rules = Array.isArray(json) ? undefined : json['x-kubernetes-validations']
    if (Array.isArray(rules)) {
      for (const rule of rules) {
        for (const [, a, b] of String((rule as JsonMap).rule).matchAll(/'([^'\\]{0,60})'|"([^"\\]{0,60})"/g))
          found.add((a ?? b)!)
      }
    }
    for (const inner of Object.values(json)) visit(inner)
  }
  visit(schema)
  return [...found]
}

/** A value that a schema allows in most of its parts; undefined where none was found. */
export function randomValue(
  random: Random,
  schema: CustomSchema,
  words: readonly string[],
  depth = 0,
): Json | undefined {
  if (schema.isNullable && random() < 0.05) return null
  if (schema.words && random() < 0.95) return pick(random, schema.words)
  if (schema.isIntOrString) return random() < 0.5 ? pick(random, NUMBERS) : randomText(random, schema, words)
  switch (schema.type) {
    case 'object':
      return randomMap(random, schema, words, depth)
    case 'array':
      return randomList(random, schema, words, depth)
    case 'string':
      return randomText(random, schema, words)
    case 'boolean':
      return random() < 0.5
    case 'integer':
    case 'number':
      return randomNumber(random, schema)
    default:
      return schema.isOpen ? pick<Json>(random, [{ a: 1 }, 'x', 3, [1, 'a']]) : undefined
  }
}

function randomText(random: Random, schema: CustomSchema, words: readonly string[]): string | undefined {
  const [least, most] = [schema.bounds.minLength ?? 0, schema.bounds.maxLength ?? 1_000]
  for (let attempt = 0; attempt < 60; attempt++) {
    const source = random() < 0.5 && words.length > 0 ? words : WORDS
    const text = random() < 0.1 ? `${pick(random, source)}${pick(random, WORDS)}` : pick(random, source)
    const fits = text.length >= least && text.length <= most
    if (fits && (schema.pattern === '' || matchesText(schema.pattern, text) === true)) return text
  }
  return undefined
}

function randomNumber(random: Random, schema: CustomSchema): number | undefined {
  const [least, most] = [schema.bounds.minimum ?? -1_000, schema.bounds.maximum ?? 100_000]
  const fitting = [...NUMBERS, least, most].filter(one => one >= least && one <= most)
  const number = pick(random, fitting)
  return schema.type === 'number' && random() < 0.5 && number + 0.5 <= most ? number + 0.5 : number
}

function randomMap(random: Random, schema: CustomSchema, words: readonly string[], depth: number): JsonMap | undefined {
  const made: JsonMap = {}
  const chance = depth < 2 ? 0.6 : depth < 5 ? 0.35 : 0.15
  for (const [name, inner] of schema.properties) {
    const isRequired = schema.required.includes(name)
    if (!isRequired && random() > chance) continue
    const value = randomValue(random, inner, words, depth + 1)
    if (value === undefined && isRequired) return undefined
    if (value !== undefined) made[name] = value
  }
  if (schema.additional !== undefined && schema.additional !== ANYTHING) {
    for (let count = Math.floor(random() * 3); count > 0; count--) {
      const value = randomValue(random, schema.additional, words, depth + 1)
      if (value !== undefined) made[pick(random, ['a', 'b', 'a.b/c', 'x-y', '__a'])] = value
    }
  }
  if (schema.isEmbedded) Object.assign(made, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
  return made
}

function randomList(random: Random, schema: CustomSchema, words: readonly string[], depth: number): Json[] {
  const [least, most] = [schema.bounds.minItems ?? 0, schema.bounds.maxItems ?? 4]
  const count = Math.max(least, Math.min(most, Math.floor(random() * 4)))
  const items: Json[] = []
  const seen = new Set<string>()
  for (let attempt = 0; attempt < 4 * count && items.length < count; attempt++) {
    const item = randomValue(random, schema.items ?? ANYTHING, words, depth + 1)
    const key =
      schema.keys === '=' || schema.keys.length === 0
        ? JSON.stringify(item)
        : JSON.stringify(schema.keys.map(name => (item as JsonMap | undefined)?.[name]))
    if (item === undefined || (schema.keys.length > 0 && seen.has(key))) continue
    seen.add(key)
    items.push(item)
  }
  return items
}

/** The same object with some of its values made anew. */
export function mutated(random: Random, value: Json, fresh: Json): Json {
  if (random() < 0.15) return fresh
  if (Array.isArray(value) && Array.isArray(fresh)) {
    return value.map((item, index) => (index < fresh.length ? mutated(random, item, fresh[index]!) : item))
  }
  if (isMap(value) && isMap(fresh)) {
    const made: JsonMap = {}
    for (const [key, item] of Object.entries(value)) {
      if (random() < 0.03) continue
      made[key] = Object.hasOwn(fresh, key) ? mutated(random, item, fresh[key]!) : item
    }
    for (const [key, item] of Object.entries(fresh)) if (!Object.hasOwn(value, key) && random() < 0.1) made[key] = item
    return made
  }
  return value
}

const isMap = (value: Json): value is JsonMap => typeof value === 'object' && value !== null && !Array.isArray(value)
