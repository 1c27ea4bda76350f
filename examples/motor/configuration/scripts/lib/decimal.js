// Exact decimals. JavaScript's numbers are binary and sometimes lose a cent.
class Decimal {
  constructor(units, places) {
    this.units = units
    this.places = places
  }

  static of(value) {
    if (value instanceof Decimal) return value
    const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value)) || []
    if (whole === undefined) throw new Error("'" + value + "' is no decimal number")
    return new Decimal(BigInt(sign + whole + fraction), fraction.length)
  }

  times(other) {
    const factor = Decimal.of(other)
    return new Decimal(this.units * factor.units, this.places + factor.places)
  }

  minus(other) {
    const { units, places } = Decimal.of(other)
    const most = Math.max(this.places, places)
    const scaled = (value, from) => value * 10n ** BigInt(most - from)
    return new Decimal(scaled(this.units, this.places) - scaled(units, places), most)
  }

  // Rounds half up, as Bindery does.
  round(places) {
    if (this.places <= places) return this
    const unit = 10n ** BigInt(this.places - places)
    const size = this.units < 0n ? -this.units : this.units
    const rounded = (size + unit / 2n) / unit
    return new Decimal(this.units < 0n ? -rounded : rounded, places)
  }

  atLeast(other) {
    return this.minus(other).units < 0n ? Decimal.of(other) : this
  }

  toString() {
    const size = (this.units < 0n ? -this.units : this.units).toString().padStart(this.places + 1, '0')
    const whole = size.slice(0, size.length - this.places)
    const fraction = this.places === 0 ? '' : '.' + size.slice(-this.places)
    return (this.units < 0n ? '-' : '') + whole + fraction
  }
}

exports.Decimal = Decimal
