/** YAML as it is written: a scalar that no JSON value would come out as (`0644`, `yes`, nothing at all). */
export class Raw {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Value = string | number | boolean | null | Raw | Value[] | { [key: string]: Value }
export type Fields = { [key: string]: Value }

export const isFields = (value: Value | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Raw)

/** Every path below a value that a patch could name, the value itself left out. */
export function pathsOf(value: Value, below: readonly string[] = []): (readonly string[])[] {
  const children = Array.isArray(value) ? [...value.entries()] : isFields(value) ? Object.entries(value) : []
  return children.flatMap(([key, child]) => {
    const path = [...below, String(key)]
    return [path, ...pathsOf(child, path)]
  })
}

export function valueAt(value: Value, path: readonly string[]): Value | undefined {
  let here: Value | undefined = value
  for (const key of path) {
    if (Array.isArray(here)) here = here[Number(key)]
    else if (isFields(here)) here = here[key]
    else return undefined
  }
  return here
}
