/** A place that a transformer writes to, for kinds of objects; absent parts match everything. */
export interface FieldSpec {
  readonly path: string
  readonly kind?: string
  readonly group?: string
  readonly version?: string
  /** Make the maps and the field on the way when they are missing. */
  readonly create?: boolean
}
